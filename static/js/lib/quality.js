const GOOD = { qualityLevel: 6, compressionLevel: 2 };
const SPARING = { qualityLevel: 2, compressionLevel: 6 };
const SLOW = ["slow-2g", "2g", "3g"];

/** Of a desktop's pictures, by what the browser says of its link. One that says nothing gets good ones. */
export function qualityFor(connection) {
  return connection?.saveData || SLOW.includes(connection?.effectiveType) ? SPARING : GOOD;
}
