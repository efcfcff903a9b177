package core

// none is the index of no element.
const none = -1
