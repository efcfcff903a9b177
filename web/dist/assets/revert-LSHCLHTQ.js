import{a}from"./chunk-6EBKWY7C.js";import"./chunk-RGN2JTOP.js";import"./chunk-CVMGCFO5.js";import"./chunk-P25Q6QJN.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
