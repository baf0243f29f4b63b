import type { Digest } from '../../digest.ts';

export type FileOp =
  | { readonly type: 'rename' | 'move'; readonly from: string; readonly to: string }
  | { readonly type: 'delete'; readonly path: string };

export type Dependence = { readonly name: string; readonly range: string };

export type EnvAddition = {
  readonly name: string;
  readonly description: string | null;
  readonly example: string | null;
  readonly isSecret: boolean;
  /** The skill works without it. */
  readonly isOptional: boolean;
};

export type Structured = {
  readonly npmDependencies: Readonly<Record<string, string>>;
  /** The dependencies whose range replaces the core's where the two have no version in common. */
  readonly npmOverrides: readonly string[];
  readonly envAdditions: readonly EnvAddition[];
  /** Service name → its definition, already checked against the allowed keys. */
  readonly composeServices: Readonly<Record<string, unknown>>;
  readonly container: {
    readonly npmDependencies: Readonly<Record<string, string>>;
    readonly aptPackages: readonly string[];
  };
};

/** The commits that a package was made of, as `pack --range` records them. */
export type Origin = {
  /** Commit → git's patch id of it, which a cherry-pick has as well; null for a merge. */
  readonly commits: Readonly<Record<string, string | null>>;
  /** The patch id of all of them together, which a squashed commit has as well; null where nothing is left. */
  readonly patch: string | null;
  /** The digest of the resulting changes; see `changeDigest`. */
  readonly of: Digest;
};

/** `manifest.yaml` after checking; the YAML spelling is snake_case. */
export type Manifest = {
  readonly skill: string;
  readonly version: string;
  readonly description: string;
  readonly coreVersion: string;
  readonly adds: readonly string[];
  readonly modifies: readonly string[];
  readonly fileOps: readonly FileOp[];
  readonly depends: readonly Dependence[];
  readonly conflicts: readonly string[];
  readonly structured: Structured;
  /** Paths inside the package, such as `tests/telegram.test.ts`. */
  readonly test: readonly string[];
  /** Null for a package that was not made of commits. */
  readonly origin: Origin | null;
};
