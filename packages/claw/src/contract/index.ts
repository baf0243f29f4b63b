// Results as JSON: what a program that runs `claw … --json` parses. Schemas, and nothing of the engine.
export { CarriedData } from './carried.ts';
export { ConsentNeeded, OperationPending, SkillNotFound } from './error-data.ts';
export { type ConflictJson, ResultJson } from './json.ts';
export { ConflictsData } from './verbs/conflicts.ts';
export { ContinueData } from './verbs/continue.ts';
export { AppliedData, AvailableData } from './verbs/list.ts';
export { PlanData } from './verbs/plan.ts';
export { StatusData } from './verbs/status.ts';
export { UndoData } from './verbs/undo.ts';
export { UpdateData } from './verbs/update.ts';
