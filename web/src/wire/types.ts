// The types of the wire, generated from the server's schema.

export type * from "../../../schema/ts/index.ts";
