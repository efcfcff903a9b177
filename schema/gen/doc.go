// Command gen generates files from the tables and types of package protocol: JSON Schema (draft 07),
// TypeScript, and the tables of docs/methods.md. Equal sources give equal bytes.
//
//	go run ./schema/gen [-protocol DIR] [-out DIR] [-methods FILE]
//
// # From Go to schema
//
// A Go struct is an object. Embedded structs are flattened. A member without omitempty is required. A
// pointer is nullable. In requests, a member with omitempty can also be null, and a member with a
// default can be absent. The tag oneof has the words of a member. A list is never null, except for
// nullableLists. A union is one of its variants, which its tag identifies. Unions that only the server
// sends can also have variants of another version. A type that both sides send has one definition, the
// one of requests.
//
// The doc comments of package protocol become descriptions, with the names of members in place of the
// names of their fields. Its typed string constants become the words of their type. Types with JSON
// methods of their own, and strings with a meaning, are in shapes.go.
package main
