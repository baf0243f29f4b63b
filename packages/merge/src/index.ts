// The merge as a library: three texts in, one text or conflicts out. Nothing here reads a disk or keeps a state.
export { containedChanges } from './contained.ts';
export { type FileMerge, mergeFiles } from './file.ts';
export { changedLines, changesLineEnds, type LineRange } from './lines/changed-lines.ts';
export { diffLines } from './lines/diff.ts';
export { at, internLines } from './lines/intern.ts';
export { type LineWeights, likeness, lineWeights } from './lines/likeness.ts';
export { contentOf, dominantTerminator, endLine, mapVersions, splitLines } from './lines/lines.ts';
export type { Hunk } from './lines/regions.ts';
export { hasMarkers, markerOf, type Rendered, renderConflicts } from './markers.ts';
export { mergeText } from './merge-text.ts';
export { type EditedBlock, findEditedBlock, trimmed, withEdit } from './moved/edited-block.ts';
export { openNewPlaces } from './moved/new-places.ts';
export { type WholeSides, withSharedEnds } from './moved/shared-ends.ts';
export { type Reopening, reopeningOf } from './reopened.ts';
export {
  createFaultFinder,
  type FindFault,
  mergeFault,
  type TextFault,
  tellFault,
} from './syntax/faults/text-fault.ts';
export { formatOf, languageOf } from './syntax/language.ts';
export { childrenOf, type Node, nodesIn, parseSyntax } from './syntax/parse.ts';
export { mergeTexts } from './text.ts';
export { isSameFile, mergeValue, type Tree, type TreeFile, type Versions } from './tree.ts';
export { unifiedPatch } from './unified.ts';
