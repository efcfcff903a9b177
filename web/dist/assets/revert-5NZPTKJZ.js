import{a}from"./chunk-YNUDBUZ2.js";import"./chunk-OVRY3S7Y.js";import"./chunk-O6D76GUJ.js";import"./chunk-SAJHGUAR.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
