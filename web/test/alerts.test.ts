import * as alerts from "../src/store/alerts.ts";
import * as app from "../src/store/app.ts";
import { inbox } from "../src/store/questions.ts";
import type { OpenServerRequest, Thread } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

const thread = (type: string) => ({ id: "t", name: "Fix it", preview: "", status: { type } }) as unknown as Thread;
const question = (requestId: number) => ({ requestId, threadId: "t", itemId: "i", method: "item/fileChange/requestApproval" }) as
	unknown as OpenServerRequest;

/** Shown is a notification that the page asked for. */
interface Shown {
	text: string;
	body: string;
}

/** look replaces the parts of the browser that tell whether the user looks at the page. */
function look(focused: boolean, permission: string): Shown[] {
	const shown: Shown[] = [];
	class Fake {
		static permission = permission;
		static requestPermission = () => Promise.resolve(permission);
		constructor(text: string, { body }: { body: string }) {
			shown.push({ text, body });
		}
	}
	Object.assign(globalThis, { Notification: Fake });
	Object.assign(document, { hasFocus: () => focused });
	return shown;
}

test("questions and ends of turns are notified if the user wants that and looks at something else", async () => {
	const shown = look(false, "granted");
	app.threads.value = [thread("active")];
	inbox.value = [question(1)];
	const stop = alerts.startAlerts();
	inbox.value = [question(1), question(2)];
	equal([shown, alerts.title.value], [[], "(2) Workbench"]);
	equal(await alerts.want(true), true);
	inbox.value = [question(2), question(3)];
	app.threads.value = [thread("idle")];
	equal(shown, [{ text: "Question: file changes", body: "Fix it" }, { text: "The turn has ended", body: "Fix it" }]);
	equal(alerts.title.value, "(2) ✓ Workbench");
	app.threads.value = [thread("active")];
	app.threads.value = [thread("systemError")];
	equal(shown.at(-1)!.text, "The turn failed");
	look(true, "granted");
	inbox.value = [];
	app.threads.value = [thread("active")];
	app.threads.value = [thread("idle")];
	equal([shown.length, alerts.title.value], [3, "✓ Workbench"]);
	stop();
});

test("a browser that does not allow notifications turns them off again", async () => {
	const shown = look(false, "denied");
	equal([await alerts.want(true), alerts.wanted.value], [false, false]);
	const stop = alerts.startAlerts();
	inbox.value = [question(4)];
	equal(shown, []);
	stop();
});
