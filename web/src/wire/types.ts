// The types of the wire, generated from the server's schema.

import type { Methods as Generated } from "../../../schema/ts/index.ts";

export type * from "../../../schema/ts/index.ts";

interface Additions {
	"context/goto": { params: { threadId: string; revision: number }; result: unknown };
}
export type Methods = Omit<Generated, keyof Additions> & Additions;
