// The images of a message that is not sent yet.

import { useState } from "preact/hooks";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";

const maxImageBytes = 10 << 20;

/** Image is a picture as a data URL. */
export interface Image {
	name: string;
	url: string;
}

/** Attachments are the images of a message. */
export interface Attachments {
	images: readonly Image[];
	attach(files: Iterable<File>): Promise<void>;
	remove(image: Image): void;
	clear(): void;
}

/** useAttachments keeps the images of the message until it is sent. */
export function useAttachments(store: ThreadStore): Attachments {
	const [images, setImages] = useState<readonly Image[]>([]);
	const attach = async (files: Iterable<File>) => {
		for (const f of files) {
			if (!f.type.startsWith("image/")) continue;
			if (f.size > maxImageBytes) {
				store.notices.add("warning", `${f.name} is larger than 10 MB and was not attached.`);
				continue;
			}
			const url = await dataURL(f);
			setImages((list) => [...list, { name: f.name, url }]);
		}
	};
	return { images, attach, remove: (image) => setImages(images.filter((i) => i !== image)), clear: () => setImages([]) };
}

/** AttachmentList shows the images, each with a button that removes it. */
export function AttachmentList({ images, remove }: Pick<Attachments, "images" | "remove">) {
	if (images.length === 0) return null;
	return (
		<div class="attachments">
			{images.map((image) => (
				<span class="attachment">
					<img src={image.url} alt={image.name} />
					<button type="button" class="quiet" aria-label={`Remove ${image.name}`} onClick={() => remove(image)}>
						<Icon name="x" /></button>
				</span>
			))}
		</div>
	);
}

function dataURL(f: File): Promise<string> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result as string);
		reader.onerror = () => reject(reader.error!);
		reader.readAsDataURL(f);
	});
}
