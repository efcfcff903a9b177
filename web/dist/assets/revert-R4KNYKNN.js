import{a}from"./chunk-DKLG6NTV.js";import"./chunk-YBLQVKIV.js";import"./chunk-EDRQZVA4.js";import"./chunk-CYRZGSXX.js";import"./chunk-YG42M5SK.js";export{a as RevertDialog};
