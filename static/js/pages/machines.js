import { Pictures } from "../parts/pictures.js";
import { Selection } from "../parts/selection.js";

const REST = 5000;

new Selection();
new Pictures(() => {}, REST).start();
