import type { z } from 'zod';
import type { BroughtData, CarriedData } from './carried.ts';
import type { Immutable } from './immutable.ts';
import type { AdoptData } from './verbs/adopt.ts';
import type { ConflictsData } from './verbs/conflicts.ts';
import type { ContinueData } from './verbs/continue.ts';
import type { CustomizeData } from './verbs/customize.ts';
import type { DevData } from './verbs/dev.ts';
import type { DiffData } from './verbs/diff.ts';
import type { DoctorData } from './verbs/doctor.ts';
import type { ListData } from './verbs/list.ts';
import type { LogData } from './verbs/log.ts';
import type { MatrixData } from './verbs/matrix.ts';
import type { PackData } from './verbs/pack.ts';
import type { PlanData } from './verbs/plan.ts';
import type { RebaseData } from './verbs/rebase.ts';
import type { RecoverData } from './verbs/recover.ts';
import type { ResolutionsData } from './verbs/resolutions.ts';
import type { ResolveData } from './verbs/resolve.ts';
import type { ShowData } from './verbs/show.ts';
import type { StatusData } from './verbs/status.ts';
import type { UndoData } from './verbs/undo.ts';
import type { UpdateData } from './verbs/update.ts';
import type { VerifyData } from './verbs/verify.ts';
import type { WhyData } from './verbs/why.ts';

// Types alone, so that code that only makes or prints results loads no schema.

/** The schema of each verb's data. */
export type Schemas = {
  readonly init: typeof CarriedData;
  readonly adopt: typeof AdoptData;
  readonly apply: typeof BroughtData;
  readonly remove: typeof CarriedData;
  readonly upgrade: typeof BroughtData;
  readonly replay: typeof CarriedData;
  readonly update: typeof UpdateData;
  readonly customize: typeof CustomizeData;
  readonly rebase: typeof RebaseData;
  readonly pack: typeof PackData;
  readonly dev: typeof DevData;
  readonly plan: typeof PlanData;
  readonly status: typeof StatusData;
  readonly list: typeof ListData;
  readonly show: typeof ShowData;
  readonly log: typeof LogData;
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
  readonly abort: z.ZodNull;
  readonly recover: typeof RecoverData;
};

/** The engine's verbs. */
export type Verb = keyof Schemas;

/** The data of a verb's result; a result that ended with an error may have none. */
export type DataOf<V extends Verb> = Immutable<z.output<Schemas[V]>>;
