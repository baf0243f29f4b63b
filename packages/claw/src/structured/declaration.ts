import type { Conflict } from '../conflict.ts';
import type { StructuredKind } from './structured-kind.ts';

/** A setting that a layer adds to `.env.example`. */
export type DeclaredSetting = {
  readonly name: string;
  readonly description: string | null;
  readonly example: string | null;
  readonly isSecret: boolean;
};

/** The declarations of one layer for structured files: a manifest's `structured`, already checked. */
export type LayerDeclarations = {
  readonly npmDependencies: Readonly<Record<string, string>>;
  /** The dependencies whose range replaces the core's where the two have no version in common. */
  readonly npmOverrides: readonly string[];
  readonly envAdditions: readonly DeclaredSetting[];
  readonly composeServices: Readonly<Record<string, unknown>>;
  readonly container: {
    readonly npmDependencies: Readonly<Record<string, string>>;
    readonly aptPackages: readonly string[];
  };
};

/** A layer's declarations under the name by which conflicts and outcomes mention it. */
export type Declaration = { readonly layer: string; readonly structured: LayerDeclarations };

/**
 * Returns the decision about a structured conflict, or null where there is none. Asked before the conflict is
 * reported. The value is plain JSON; null takes the key out.
 */
export type Decide = (conflict: Conflict) => { readonly value: unknown } | null;

/** A structured file and the layers that have a say in it, in canonical order. */
export type StructuredInput = {
  readonly path: string;
  readonly kind: StructuredKind;
  readonly release: Buffer | null;
  readonly declarations: readonly Declaration[];
  /** Asked before a disagreement becomes a conflict. */
  readonly decide?: Decide | undefined;
};

/**
 * A structured file as composed. Where layers disagree, `bytes` leaves the disputed key as the release
 * has it. `outcome` is plain data for the state file.
 */
export type StructuredResult = {
  readonly bytes: Buffer | null;
  readonly conflicts: readonly Conflict[];
  readonly outcome: Record<string, unknown>;
};

/** The name that the release goes by beside the layers. */
export const CORE = 'core';
