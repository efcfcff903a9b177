// Command gen writes the schema files of the protocol: JSON Schema (draft 07) and
// TypeScript, both from the tables and types of package protocol. The output
// depends on nothing else, so equal sources give equal bytes.
//
//	go run ./schema/gen [-protocol DIR] [-out DIR]
//
// # From Go to schema
//
// A Go struct is an object; embedded structs are flattened. A member without
// omitempty is required. A pointer is nullable. In what clients send, a member
// with omitempty may also be null, and those in defaults may be left out. A list
// is never null, but for those in nullableLists. A union is one of its variants,
// told apart by its tag. A type that both sides send has one definition, which
// takes what clients may send.
//
// The doc comments of package protocol become descriptions, and its typed string
// constants the words of their type. What the types do not tell, because they
// have JSON methods of their own or are plain strings, is in shapes.go.
package main
