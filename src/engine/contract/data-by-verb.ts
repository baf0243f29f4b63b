import type { z } from 'zod';
import type { AbortData } from './abort.ts';
import type { ApplyData } from './apply.ts';
import type { ConflictsData } from './conflicts.ts';
import type { ContinueData } from './continue.ts';
import type { CustomizeData } from './customize.ts';
import type { DevData } from './dev.ts';
import type { DiffData } from './diff.ts';
import type { DoctorData } from './doctor.ts';
import type { Immutable } from './immutable.ts';
import type { InitData } from './init.ts';
import type { ListData } from './list.ts';
import type { MatrixData } from './matrix.ts';
import type { PackData } from './pack.ts';
import type { PlanData } from './plan.ts';
import type { RebaseData } from './rebase.ts';
import type { RecoverData } from './recover.ts';
import type { RemoveData } from './remove.ts';
import type { ReplayData } from './replay.ts';
import type { ResolutionsData } from './resolutions.ts';
import type { ResolveData } from './resolve.ts';
import type { StatusData } from './status.ts';
import type { UndoData } from './undo.ts';
import type { UpdateData } from './update.ts';
import type { UpgradeData } from './upgrade.ts';
import type { VerifyData } from './verify.ts';
import type { WhyData } from './why.ts';

// Types alone: whoever only makes or prints results loads no schema.

/** The schema of each verb's data. */
export type Schemas = {
  readonly init: typeof InitData;
  readonly apply: typeof ApplyData;
  readonly remove: typeof RemoveData;
  readonly upgrade: typeof UpgradeData;
  readonly replay: typeof ReplayData;
  readonly update: typeof UpdateData;
  readonly customize: typeof CustomizeData;
  readonly rebase: typeof RebaseData;
  readonly pack: typeof PackData;
  readonly dev: typeof DevData;
  readonly plan: typeof PlanData;
  readonly status: typeof StatusData;
  readonly list: typeof ListData;
  readonly verify: typeof VerifyData;
  readonly matrix: typeof MatrixData;
  readonly why: typeof WhyData;
  readonly diff: typeof DiffData;
  readonly doctor: typeof DoctorData;
  readonly conflicts: typeof ConflictsData;
  readonly resolve: typeof ResolveData;
  readonly continue: typeof ContinueData;
  readonly resolutions: typeof ResolutionsData;
  readonly undo: typeof UndoData;
  readonly abort: typeof AbortData;
  readonly recover: typeof RecoverData;
};

/** The engine's verbs. */
export type Verb = keyof Schemas;

/** The data of a verb's result; a result that ended with an error may have none. */
export type DataOf<V extends Verb> = Immutable<z.output<Schemas[V]>>;
