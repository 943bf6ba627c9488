import { Selection } from "../parts/selection.js";

new Selection();
