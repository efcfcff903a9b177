// Tests of modules without a page: a list of functions, which the Go test runs in the browser.

interface Test {
	name: string;
	run(): void | Promise<void>;
}

const tests: Test[] = [];

/** test adds a test. Its name says what users rely on. */
export function test(name: string, run: () => void | Promise<void>): void {
	tests.push({ name, run });
}

/** equal fails the test if two values are not the same as JSON. */
export function equal(got: unknown, want: unknown): void {
	const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
	if (a !== b) throw new Error(`got  ${a}\nwant ${b}`);
}

/** runTest runs one test. It returns its error, or "" if it passed. */
async function runTest(index: number): Promise<string> {
	try {
		await tests[index]!.run();
		return "";
	} catch (e) {
		return e instanceof Error ? e.message : String(e);
	}
}

Object.assign(globalThis, { testNames: () => tests.map((t) => t.name), runTest });
