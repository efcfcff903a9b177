package protocol

// CheckUnserved is checkUnserved for tests.
var CheckUnserved = checkUnserved
