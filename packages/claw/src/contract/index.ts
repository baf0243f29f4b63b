// Results as JSON: what a program that runs `claw … --json` parses. Schemas, and nothing of the engine.
export {
  ContinueData,
  namesOfReleases,
  PlanData,
  TreeChangeData,
  UndoData,
  UpdateData,
} from './changing-verbs.ts';
export {
  Change,
  type ConflictJson,
  ConsentNeeded,
  Outcome,
  ResultJson,
  SkillNotFound,
  VerbCall as OperationPending,
} from './json.ts';
export {
  AppliedData,
  AvailableData,
  ConflictsData,
  LogData,
  MatrixData,
  StatusData,
} from './looking-verbs.ts';
