// Command gen writes the files that are generated from the tables and types of package
// protocol: JSON Schema (draft 07), TypeScript, and the tables of docs/methods.md. The output
// depends on nothing else, so equal sources give equal bytes.
//
//	go run ./schema/gen [-protocol DIR] [-out DIR] [-methods FILE]
//
// # From Go to schema
//
// A Go struct is an object; embedded structs are flattened. A member without
// omitempty is required. A pointer is nullable. In what clients send, a member
// with omitempty may also be null, and one with a default may be left out. The tag
// oneof gives the words of a member. A list is never null, but for those in
// nullableLists. A union is one of its variants, told apart by its tag; what only the
// server sends may also be a variant of another version. A type that both sides send
// has one definition, which takes what clients may send.
//
// The doc comments of package protocol become descriptions, and its typed string
// constants the words of their type. What the types do not tell, because they
// have JSON methods of their own or are plain strings, is in shapes.go.
package main
