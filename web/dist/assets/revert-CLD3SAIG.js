import{a}from"./chunk-K5SZC7EV.js";import"./chunk-7H4NGZHM.js";import"./chunk-2EH3IK6G.js";import"./chunk-GAUGX7OP.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
