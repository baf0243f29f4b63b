import { z } from 'zod';
import { BroughtData, CarriedData } from './carried.ts';
import type { Schemas } from './data-by-verb.ts';
import { AdoptData } from './verbs/adopt.ts';
import { ConflictsData } from './verbs/conflicts.ts';
import { ContinueData } from './verbs/continue.ts';
import { CustomizeData } from './verbs/customize.ts';
import { DevData } from './verbs/dev.ts';
import { DiffData } from './verbs/diff.ts';
import { DoctorData } from './verbs/doctor.ts';
import { ListData } from './verbs/list.ts';
import { LogData } from './verbs/log.ts';
import { MatrixData } from './verbs/matrix.ts';
import { PackData } from './verbs/pack.ts';
import { PlanData } from './verbs/plan.ts';
import { RebaseData } from './verbs/rebase.ts';
import { RecoverData } from './verbs/recover.ts';
import { ResolutionsData } from './verbs/resolutions.ts';
import { ResolveData } from './verbs/resolve.ts';
import { ShowData } from './verbs/show.ts';
import { StatusData } from './verbs/status.ts';
import { UndoData } from './verbs/undo.ts';
import { UpdateData } from './verbs/update.ts';
import { VerifyData } from './verbs/verify.ts';
import { WhyData } from './verbs/why.ts';

/** All schemas at once, for who checks results of any verb. */
export const SCHEMAS: Schemas = {
  init: CarriedData,
  adopt: AdoptData,
  apply: BroughtData,
  remove: CarriedData,
  upgrade: BroughtData,
  replay: CarriedData,
  update: UpdateData,
  customize: CustomizeData,
  rebase: RebaseData,
  pack: PackData,
  dev: DevData,
  plan: PlanData,
  status: StatusData,
  list: ListData,
  show: ShowData,
  log: LogData,
  verify: VerifyData,
  matrix: MatrixData,
  why: WhyData,
  diff: DiffData,
  doctor: DoctorData,
  conflicts: ConflictsData,
  resolve: ResolveData,
  continue: ContinueData,
  resolutions: ResolutionsData,
  undo: UndoData,
  abort: z.null(),
  recover: RecoverData,
};
