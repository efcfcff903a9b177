import{a}from"./chunk-ZDZCUHU7.js";import"./chunk-AW3GK7MX.js";import"./chunk-M7GWC7AO.js";import"./chunk-MDJXSYAW.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
