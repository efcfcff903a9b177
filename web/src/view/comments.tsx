// Comments on lines of changes: the dialog that writes one, and the list of those that are not sent.

import { useEffect, useRef, useState } from "preact/hooks";
import { connected } from "../store/app.ts";
import { commentsOf, placeOfLine, type Comments } from "../store/comments.ts";
import { openDialog } from "../store/dialog.ts";
import type { ThreadStore } from "../store/thread.ts";
import type { DiffLine } from "../lib/patch.ts";
import { firstLine, plural, visible } from "../lib/format.ts";
import { Icon } from "../lib/icons.tsx";
import { Frame } from "./frame.tsx";

const shownText = 120;

/** openComment writes a comment on a line, or changes the one that it has. */
export function openComment(comments: Comments, path: string, line: DiffLine): void {
	openDialog({ kind: "part", view: () => <CommentDialog comments={comments} path={path} line={line} /> });
}

function CommentDialog({ comments, path, line }: { comments: Comments; path: string; line: DiffLine }) {
	const [text, setText] = useState(comments.of(path, line)?.text ?? "");
	const field = useRef<HTMLTextAreaElement>(null);
	useEffect(() => field.current?.focus(), []);
	return (
		<Frame title={`Comment on ${visible(placeOfLine(path, line))}`} action="Keep the comment"
			run={() => comments.set(path, line, text)}>
			<pre class="question-command" tabIndex={0} aria-label="line">{visible(line.text) || " "}</pre>
			<label class="field"><span>Comment</span>
				<textarea ref={field} rows={4} value={text} onInput={(e) => setText(e.currentTarget.value)} /></label>
			<p class="faint">The comments are sent together, as one message. Without a text the comment is removed.</p>
		</Frame>
	);
}

/** CommentList has the comments that are not sent, and sends them. */
export function CommentList({ store }: { store: ThreadStore }) {
	const comments = commentsOf(store);
	const list = comments.list.value;
	if (list.length === 0) return null;
	return (
		<section class="comments" aria-label="Comments">
			<ul>
				{list.map((c) => (
					<li key={c.id}>
						<button type="button" class="pathlink" title="Change the comment" onClick={() => openComment(comments, c.path, c.line)}>
							{visible(placeOfLine(c.path, c.line))}</button>
						<span class="ellipsis">{firstLine(visible(c.text), shownText)}</span>
						<button type="button" class="quiet" aria-label={`Remove the comment on ${visible(placeOfLine(c.path, c.line))}`}
							onClick={() => comments.set(c.path, c.line, "")}><Icon name="x" /></button>
					</li>
				))}
			</ul>
			<button type="button" class="primary"
				disabled={!connected() || comments.sending.value || store.phase.value !== "ready"}
				onClick={() => void comments.send()}><Icon name="send" />Send {plural(list.length, "comment")}</button>
		</section>
	);
}
