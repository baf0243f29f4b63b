import { closeOpenMarks } from '../../lib/open-marks.ts';
import { type GrowingText, splitWhole } from './live-markdown.ts';

/** The lines of a display: those that stay, and below them some that are drawn again. */
export type LiveScreen = {
  /** Writes texts for good, and below them a tail in place of the one before; empty for none. */
  readonly show: (texts: readonly string[], tail: string) => void;
  /** Renders Markdown as it is printed. */
  readonly render: (markdown: string) => string;
  /** Makes a remark, which is shown apart from answers. */
  readonly remark: (text: string) => string;
  /** Rendered blocks need a blank line between them; otherwise the text has its own. */
  readonly separatesBlocks: boolean;
};

/** An answer on a terminal, from its first words to its end. */
export interface LiveAnswer {
  /** Shows what an answer has become. */
  grow(piece: GrowingText): void;
  /** Prints a text. Of one that replaces what is shown, it prints what is not on the screen yet. */
  print(markdown: string, replaces: string | null): void;
  /** The answer that is shown will not go on. */
  drop(): void;
}

const UNFINISHED = '(This was not finished.)';

/**
 * Shows an answer while it is written: whole blocks are printed as soon as the next one begins, and stay. Only
 * the last one is drawn again as it grows, so a long answer scrolls by as if it were printed at once.
 */
export function openLiveAnswer(screen: LiveScreen): LiveAnswer {
  let shown: { readonly id: string; text: string; printed: number; tail: string } | null = null;

  function rendered(markdown: string, isFirst: boolean): readonly string[] {
    if (markdown.trim() === '') return [];
    if (!screen.separatesBlocks) return [screen.render(markdown.replace(/\n$/, ''))];
    return [`${isFirst ? '' : '\n'}${screen.render(markdown)}`];
  }

  /** Ends what is shown; what is printed of it is marked as no answer. */
  function unfinished(): readonly string[] {
    const isMarked = shown !== null && shown.printed > 0;
    shown = null;
    return isMarked ? [screen.remark(UNFINISHED)] : [];
  }

  return {
    grow({ id, from, text }) {
      const isSame = shown?.id === id && from <= shown.text.length && from >= shown.printed;
      if (!isSame && from > 0) return;
      const before = isSame ? [] : unfinished();
      const now = shown ?? { id, text: '', printed: 0, tail: '' };
      shown = now;
      now.text = now.text.slice(0, from) + text;
      const { whole, open } = splitWhole(now.text.slice(now.printed));
      const texts = [...before, ...rendered(whole, now.printed === 0)];
      now.printed += whole.length;
      const tail = rendered(closeOpenMarks(open), now.printed === 0).join('');
      if (texts.length === 0 && tail === now.tail) return;
      now.tail = tail;
      screen.show(texts, tail);
    },
    print(markdown, replaces) {
      if (shown === null || shown.id !== replaces) {
        screen.show([screen.render(markdown)], shown?.tail ?? '');
        return;
      }
      const { text, printed } = shown;
      if (markdown.startsWith(text.slice(0, printed))) {
        shown = null;
        screen.show(rendered(markdown.slice(printed), printed === 0), '');
      } else {
        screen.show([...unfinished(), screen.render(markdown)], '');
      }
    },
    drop() {
      if (shown === null) return;
      const { text, printed } = shown;
      const rest = rendered(text.slice(printed), printed === 0);
      shown.printed = text.trim() === '' ? 0 : text.length;
      screen.show([...rest, ...unfinished()], '');
    },
  };
}
