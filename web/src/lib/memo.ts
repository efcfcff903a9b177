import { Component, h, type FunctionComponent } from "preact";

/** memo skips the rendering of a component while equal reports that its props are equal. */
export function memo<P extends object>(
	render: FunctionComponent<P>, equal: (a: P, b: P) => boolean,
): FunctionComponent<P> {
	class Memo extends Component<P> {
		override shouldComponentUpdate(next: P): boolean {
			return !equal(this.props as P, next);
		}
		override render() {
			return h(render as FunctionComponent<object>, this.props as object);
		}
	}
	return Memo as unknown as FunctionComponent<P>;
}
