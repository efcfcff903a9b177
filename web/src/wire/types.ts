// The types of the wire, generated from the server's schema.

import type { ContextOperation, Methods as Generated } from "../../../schema/ts/index.ts";

export type * from "../../../schema/ts/index.ts";

interface Additions {
	"context/readItem": { params: { threadId: string; id: string }; result: unknown };
	"context/apply": { params: { threadId: string; edits: ContextOperation[]; expectedRevision?: number | null; when?: "now" | "turnEnd" }; result: unknown };
	"context/goto": { params: { threadId: string; revision: number }; result: unknown };
}
export type Methods = Omit<Generated, keyof Additions> & Additions;
