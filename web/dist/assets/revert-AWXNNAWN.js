import{a}from"./chunk-GOPC5C3S.js";import"./chunk-WE4BE26K.js";import"./chunk-B2BUZMPC.js";import"./chunk-Q5W5PHYL.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
