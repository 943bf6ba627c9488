import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["static/vendor/", "node_modules/", ".venv/"] },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-implicit-globals": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text that others wrote goes in by textContent." },
        { property: "insertAdjacentHTML", message: "Text that others wrote goes in by textContent." },
      ],
    },
  },
  { files: ["static/js/**/*.js", "bench/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/js/**/*.js"], languageOptions: { globals: globals.node } },
];
