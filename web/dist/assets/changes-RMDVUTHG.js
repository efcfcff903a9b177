import{h as a,i as b,j as c,k as d}from"./chunk-EEQJFLYY.js";import"./chunk-VF3TMWCW.js";import"./chunk-YG42M5SK.js";export{a as ChangesPanel,b as Counts,d as FileLines,c as Mark};
