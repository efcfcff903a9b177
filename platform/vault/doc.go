// Package vault keeps one document with secrets of a home: in a file, in the keyring of the system, or in memory.
//
// A file is readable by its owner only, and is replaced durably in one step under locks that other processes share. A
// document that cannot be read is named in the error, and never replaced or removed. No error has a part of a document.
package vault
