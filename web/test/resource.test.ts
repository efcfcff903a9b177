import { Resource } from "../src/store/resource.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";
import { failure } from "./server.ts";

test("the answer to an older request changes nothing", async () => {
	const answers: ((value: string) => void)[] = [];
	const r = new Resource(() => new Promise<string>((resolve) => answers.push(resolve)));
	void r.load();
	void r.load();
	answers[1]!("new");
	await settle();
	answers[0]!("old");
	await settle();
	equal(r.value.value, "new");
});

test("changes that come together are read once", async () => {
	let reads = 0;
	const r = new Resource(async () => ++reads);
	r.soon();
	await pass(200);
	r.soon();
	await pass(200);
	equal(reads, 0);
	await pass(100);
	equal(r.value.value, 1);
});

test("what was read stays if the connection is lost, and another failure is shown until it is read again", async () => {
	let next: () => Promise<string> = async () => "a";
	const r = new Resource(() => next());
	await r.load();
	next = () => Promise.reject(failure("disconnected"));
	await r.load();
	equal([r.value.value, r.failure.value], ["a", null]);
	next = () => Promise.reject(failure("", "no"));
	await r.load();
	equal(r.failure.value?.message, "no");
	next = async () => "b";
	await r.load();
	equal([r.value.value, r.failure.value], ["b", null]);
});
