/** The kinds of places that notes come from. */
export const SOURCE_KINDS = ['file', 'message', 'answer'] as const;

/** The kind of a place that a note comes from. */
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** A note that is to be kept. */
export type NewNote = {
  /** The line of a file, or the cursor of what was said. */
  readonly place: number;
  readonly heading: string | null;
  /** The speaker; null for the assistant, and in files. */
  readonly who: string | null;
  /** Milliseconds since the epoch; null in files. */
  readonly saidAt: number | null;
  readonly text: string;
};

/** A note as it is kept. */
export type Note = NewNote & {
  readonly id: number;
  readonly folder: string;
  readonly kind: SourceKind;
  /** The path of the file below its folder, or the address of the chat. */
  readonly source: string;
};

/** A file or chat of a folder, and how far it has been read. */
export type Source = {
  readonly id: number;
  readonly kind: SourceKind;
  readonly name: string;
  /** The state in which a file was read last. */
  readonly mark: string | null;
  /** Of a chat: its first cursor, the last that was read, and the number of rows up to that. */
  readonly first: number | null;
  readonly cursor: number;
  readonly seen: number;
};

/** A note that waits for its vector. */
export type WaitingNote = { readonly id: number; readonly text: string };
