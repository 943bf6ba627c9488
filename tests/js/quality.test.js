import assert from "node:assert/strict";
import test from "node:test";

import { qualityFor } from "../../static/js/lib/quality.js";

test("it spares a slow link, and whoever wants to save data", () => {
  const sparing = { qualityLevel: 2, compressionLevel: 6 };
  for (const effectiveType of ["slow-2g", "2g", "3g"]) assert.deepEqual(qualityFor({ effectiveType }), sparing);
  assert.deepEqual(qualityFor({ effectiveType: "4g", saveData: true }), sparing);
});

test("it shows good pictures on a good link, and where nothing is known", () => {
  const good = { qualityLevel: 6, compressionLevel: 2 };
  assert.deepEqual(qualityFor({ effectiveType: "4g", saveData: false }), good);
  assert.deepEqual(qualityFor(undefined), good);
});
