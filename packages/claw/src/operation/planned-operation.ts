import type { TreeFile } from '@patchclaw/merge';
import type { FileChange } from '../compose/plan.ts';
import type { ExtraOf, ResultWith, TreeChange, TreeVerb } from '../contract/result.ts';
import type { Installation } from '../installed/installation.ts';
import type { Release } from '../installed/release.ts';
import type { Resolution } from '../installed/resolution.ts';
import type { LayerState, State } from '../installed/state-file.ts';
import type { SkillPackage } from '../package/package.ts';
import type { TargetPlan } from './planned-tree/planned-tree.ts';

/** A planned command. From here on, every verb is handled in the same way. */
export type Operation<V extends TreeVerb = TreeVerb> = {
  readonly verb: V;
  readonly arguments: readonly string[];
  /** The owner's arguments, where `continue` needs them to plan again and `arguments` hold less. */
  readonly retry?: readonly string[];
  readonly options?: Readonly<Record<string, string | null>>;
  readonly installation: Installation;
  readonly installed: readonly SkillPackage[];
  readonly plan: TargetPlan;
  /** Returns the state by which `state.yaml` will pin a layer. */
  readonly pin: (layer: SkillPackage) => LayerState;
  readonly warnings: readonly string[];
  /** Another release that this command brings; null where the core stays. */
  readonly core?: { readonly release: Release; readonly state: State['core'] } | null;
  /** Files beside the core that this command brings or takes along: packages, recordings. */
  readonly files?: readonly ExtraChange[];
  /** Every recording there will be; those that are there by default. */
  readonly resolutions?: readonly Resolution[];
  /** Things that the owner gives up, announced before the command runs. */
  readonly losses?: readonly string[];
  /** The way to prove it, where the tree on disk already has its changes. */
  readonly proof?: {
    readonly isSkipped: boolean;
    /** The tree before those changes, where it differs from the disk. */
    readonly compared: ReadonlyMap<string, TreeFile | null>;
  };
  /** There is nothing to do, not even to take the core. */
  readonly isIdle?: boolean;
  /** Data of this verb beside the common ones. */
  readonly data: ExtraOf<V>;
};

/** A change of a file that is not part of the core. */
export type ExtraChange = Omit<FileChange, 'movedFrom'>;

/** The report of a verb that composes the tree again. */
export type Report<V extends TreeVerb> = ResultWith<V, TreeChange & ExtraOf<V>>;
