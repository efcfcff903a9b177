import { Notices } from "../src/store/notices.ts";
import { equal, test } from "./check.ts";
import { failure, notification } from "./server.ts";

test("the five newest notices are shown, each once, until they are closed", () => {
	const notices = new Notices();
	for (const text of ["a", "b", "c", "c", "d", "e", "f"]) notices.add("warning", text);
	equal(notices.list.value.map((n) => n.text), ["b", "c", "d", "e", "f"]);
	notices.close(notices.list.value[1]!.id);
	equal(notices.list.value.map((n) => n.text), ["b", "d", "e", "f"]);
});

test("failures are errors, but the banner of the page shows a lost connection", () => {
	const notices = new Notices();
	notices.report(failure("disconnected"));
	notices.report(failure("", "no"));
	notices.report("text");
	notices.notified(notification("warning", { message: "slow" }));
	equal(notices.list.value.map((n) => [n.kind, n.text]), [["error", "no"], ["error", "text"], ["warning", "slow"]]);
});
