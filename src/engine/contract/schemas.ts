import { AbortData } from './abort.ts';
import { ApplyData } from './apply.ts';
import { ConflictsData } from './conflicts.ts';
import { ContinueData } from './continue.ts';
import { CustomizeData } from './customize.ts';
import type { Schemas } from './data-by-verb.ts';
import { DevData } from './dev.ts';
import { DiffData } from './diff.ts';
import { DoctorData } from './doctor.ts';
import { InitData } from './init.ts';
import { ListData } from './list.ts';
import { MatrixData } from './matrix.ts';
import { PackData } from './pack.ts';
import { PlanData } from './plan.ts';
import { RebaseData } from './rebase.ts';
import { RecoverData } from './recover.ts';
import { RemoveData } from './remove.ts';
import { ReplayData } from './replay.ts';
import { ResolutionsData } from './resolutions.ts';
import { ResolveData } from './resolve.ts';
import { StatusData } from './status.ts';
import { UndoData } from './undo.ts';
import { UpdateData } from './update.ts';
import { UpgradeData } from './upgrade.ts';
import { VerifyData } from './verify.ts';
import { WhyData } from './why.ts';

/** All schemas at once, for who checks results of any verb. */
export const SCHEMAS: Schemas = {
  init: InitData,
  apply: ApplyData,
  remove: RemoveData,
  upgrade: UpgradeData,
  replay: ReplayData,
  update: UpdateData,
  customize: CustomizeData,
  rebase: RebaseData,
  pack: PackData,
  dev: DevData,
  plan: PlanData,
  status: StatusData,
  list: ListData,
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
  abort: AbortData,
  recover: RecoverData,
};
