import type { Digest } from '../digest.ts';

/** The required content of a target before a step; null means that there is no file. */
export type Fingerprint = { readonly digest: Digest; readonly isExecutable: boolean } | null;

/**
 * One change of the project folder, `.claw/` included. Paths are relative to the project's root.
 *
 * `swap` replaces a whole folder by one that was prepared inside the transaction's own folder (null removes the
 * folder): `node_modules`, or the first `.claw/base`.
 */
export type Step =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly bytes: Buffer;
      readonly isExecutable: boolean;
      readonly before: Fingerprint;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly before: NonNullable<Fingerprint> }
  | { readonly kind: 'swap'; readonly path: string; readonly prepared: string | null };

/**
 * One step as the journal keeps it. Its bytes are beside the journal, under the step's number, which is its position
 * in the list.
 */
export type JournalStep =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly before: Fingerprint;
      readonly after: Fingerprint;
    }
  | {
      readonly kind: 'swap';
      readonly path: string;
      /** The folder to swap in, relative to the root; null takes the old one away. */
      readonly prepared: string | null;
      /** True if there was a folder at `path` before. */
      readonly hadFolder: boolean;
    };

/**
 * The steps of a transaction, in the order of publishing.
 *
 * Written once, before anything of the project is touched, and never changed. As `.claw/tx/<id>/journal.json`
 * it makes the transaction happen, as `rollback.json` it takes it back, as `.claw/backup/<id>/record.json` it
 * tells undo what was done. Each is a rename.
 */
export type Journal = {
  readonly version: 1;
  readonly id: string;
  readonly verb: string;
  readonly summary: string;
  /** The time of the decision, ISO 8601. */
  readonly committedAt: string;
  /** Digests of `state.yaml`; null where there is none. */
  readonly stateBefore: Digest | null;
  readonly stateAfter: Digest | null;
  readonly steps: readonly JournalStep[];
  /** New path → the path that its content came from; absent in the records of older engines. */
  readonly moves?: Readonly<Record<string, string>>;
  /** Folders that had to be made, outermost first: taken away again by a rollback. */
  readonly foldersMade: readonly string[];
  /** Modes of the folders that deletions may empty, so that a rollback makes them as they were. */
  readonly folderModes: Readonly<Record<string, number>>;
  /** Records that this one was joined of: wherever one of them is still there, it counts no more. */
  readonly replaces?: readonly string[];
};

/** The holder of the lock. `started` tells a process from a later one with the same number. */
export type Holder = {
  readonly pid: number;
  readonly verb: string;
  readonly started: string | null;
};

/** The findings and the outcome of `recover`. */
export type Recovery = {
  readonly outcome:
    | 'nothing'
    | 'adopted'
    | 'rolled-forward'
    | 'rolled-back'
    | 'needs-decision'
    | 'locked';
  /** Files in which an owner's edit was found and kept, here or under `backup/<id>/conflicts`. */
  readonly kept: readonly string[];
  readonly id: string | null;
  readonly verb: string | null;
  /** The reason that a decision is needed: an edited file, another `state.yaml`, an unreadable journal, or one that was
   *  not written in this folder on this machine. */
  readonly reason: 'edited' | 'state-changed' | 'journal-damaged' | 'foreign' | null;
  /** Set when the outcome is `locked`: that command is still running. */
  readonly holder: Holder | null;
};

/**
 * The owner's decision on a transaction that met an edit, or that was not begun here (`adopt`: it is the owner's).
 */
export type Decision = 'keep-mine' | 'roll-forward' | 'roll-back' | 'adopt';
