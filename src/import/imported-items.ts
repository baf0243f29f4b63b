/**
 * The items of another assistant's store, for every product: each source reads its own store into these, and one
 * planner decides what to do with them.
 */

export const PRODUCTS = ['nanoclaw', 'openclaw', 'hermes', 'nanobot', 'clawft'] as const;
export type Product = (typeof PRODUCTS)[number];

/** A chat that the source knows, by the address that it has here. */
export type SourceChat = {
  readonly jid: string;
  readonly channel: string;
  readonly name: string | null;
  readonly isDirect: boolean;
};

/** A chat in which the source answered. */
export type SourceGroup = SourceChat & {
  /** Its folder or agent there; files and tasks name the group by it. */
  readonly folder: string;
  readonly isMain: boolean;
  readonly needsTrigger: boolean;
  /** The word by which it was called; null for the assistant's name. */
  readonly triggerWord: string | null;
  /** Ids of those who could call it there; null where nothing said who. */
  readonly allow: readonly string[] | 'everybody' | null;
};

/** Something that was said; `sender` is null for the assistant. */
export type SourceMessage = {
  readonly jid: string;
  readonly id: string;
  readonly sender: string | null;
  readonly senderName: string | null;
  readonly isOwner: boolean;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** A run of a task that is over. */
export type SourceRun = {
  readonly at: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
  readonly summary: string;
};

export type SourceTask = {
  /** Its id there. */
  readonly id: string;
  /** The group that it runs in, by its folder there; null for the owner's own chat. */
  readonly folder: string | null;
  readonly name: string | null;
  readonly prompt: string;
  readonly schedule: SourceSchedule;
  readonly context: 'group' | 'isolated';
  readonly state: 'active' | 'paused' | 'done';
  readonly nextRun: number | null;
  readonly lastRun: number | null;
  readonly createdAt: number | null;
  readonly runs: readonly SourceRun[];
  /** What of it cannot come, as a sentence; null for nothing. */
  readonly lost: string | null;
};

export type SourceSchedule =
  | { readonly kind: 'cron'; readonly pattern: string; readonly timeZone: string }
  | { readonly kind: 'every'; readonly everyMs: number; readonly timeZone: string }
  | { readonly kind: 'at'; readonly at: number; readonly timeZone: string };

/** A file that goes into a group's folder; `folder` is null for files that all groups share. */
export type SourceFile = {
  readonly folder: string | null;
  /** Where it goes, below that folder. */
  readonly path: string;
  readonly kind: 'memory' | 'persona' | 'skill' | 'file';
  /** Tells files apart that go to the same place. */
  readonly key?: string;
  readonly content: SourceContent;
};

/** Bytes that are known, or a file of the source that is copied as it is. */
export type SourceContent =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'copy'; readonly from: string };

/** A setting of `.env`. */
export type SourceSetting = {
  readonly name: string;
  readonly value: string;
  /** Secrets are copied only after the owner has agreed. */
  readonly isSecret: boolean;
  /** The channel whose login this is: two assistants cannot use it at the same time. Null for no such thing. */
  readonly channel: string | null;
};

/** Something that does not come, and why. */
export type LeftBehind = { readonly what: string; readonly why: string };

/**
 * A source's code compared with that of its product: the parts that are here already, and the owner's own parts with
 * their place here.
 */
export type SourceCode = {
  /** The release of the product that it was compared with; null where it could not be compared. */
  readonly base: string | null;
  readonly notes: readonly { readonly what: string; readonly text: string }[];
};

/** A link to WhatsApp, as the JSON text of each key. */
export type SourceLink = {
  readonly phoneNumber: string | null;
  readonly credentials: string;
  readonly keys: readonly { readonly type: string; readonly id: string; readonly json: string }[];
};

/** Everything that was found in another assistant's store. */
export type SourceState = {
  readonly product: Product;
  readonly version: string;
  readonly assistantName: string | null;
  readonly timeZone: string;
  readonly chats: readonly SourceChat[];
  readonly groups: readonly SourceGroup[];
  readonly countMessages: number;
  /** Reads what was said, in the order of time within each chat, a message at a time. */
  messages(): Iterable<SourceMessage>;
  readonly tasks: readonly SourceTask[];
  readonly files: readonly SourceFile[];
  readonly settings: readonly SourceSetting[];
  readonly link: SourceLink | null;
  readonly leftBehind: readonly LeftBehind[];
  /** The code, where the folder is a checkout that may hold changes of the owner's; null for no such thing. */
  readonly code?: SourceCode | null;
  /** Closes what was opened to read it. */
  close(): void;
};

/** What a source reads with. */
export type SourceContext = {
  readonly root: string;
  /** The home folder of the owner; null where it is not known. */
  readonly home: string | null;
  /** A folder for copies of databases, which is deleted afterwards. */
  readonly workDir: string;
  /** The time zone of this machine or of the settings. */
  readonly timeZone: string;
  readonly now: number;
  /** The product that the owner named; null where the folder must tell. */
  readonly from: Product | null;
};

/** A folder that was recognised as the store of a product. */
export type DetectedSource = {
  readonly product: Product;
  readonly version: string;
  /** The store's own files that a running source has open or locks. */
  readonly storeFiles: readonly string[];
  /** Names of services and timers that run this product, as systemd or launchd knows them. */
  readonly units: readonly RegExp[];
  /** How names of its containers begin. */
  readonly containerPrefixes: readonly string[];
  /** Command lines of its own daemon. */
  readonly commands: readonly RegExp[];
  read(): SourceState;
};

/** One product that can be imported from. */
export type Source = {
  readonly product: Product;
  /** @throws ImportRefused for a store of this product that cannot be read, such as one of a newer schema */
  detect(context: SourceContext): DetectedSource | null;
};

/** The reason why an import is refused, in sentences that say what to do next. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}
