import { installSheets } from "../parts/sheets.js";

installSheets();
