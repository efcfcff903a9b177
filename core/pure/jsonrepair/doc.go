// Package jsonrepair reads the JSON of models and servers that write it wrongly. It only accepts a text
// that has one meaning, and leaves all others to the error of the decoder.
package jsonrepair
