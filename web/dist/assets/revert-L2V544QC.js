import{a}from"./chunk-MAJHKCHA.js";import"./chunk-DZ4EZCZU.js";import"./chunk-NTOOZKYO.js";import"./chunk-D4H25V37.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
