// The merge as a library: three texts in, one text or conflicts out. Nothing here reads a disk or keeps a state.

export {
  changedLines,
  changesLineEnds,
  type LineRange,
  type LineWeights,
  likeness,
  lineWeights,
} from './lines/compare-files.ts';
export { diffLines } from './lines/diff.ts';
export { at, internLines } from './lines/interned-lines.ts';
export type { Hunk } from './lines/lines.ts';
export { contentOf, dominantTerminator, endLine, mapVersions, splitLines } from './lines/lines.ts';
export { hasMarkers, markerOf, type Rendered, renderConflicts } from './markers.ts';
export { containedChanges, type FileMerge, mergeFiles } from './merge-files.ts';
export { type Reopening, reopeningOf } from './merge-lines.ts';
export { mergeText, mergeTexts } from './merge-text.ts';
export {
  type EditedBlock,
  findEditedBlock,
  openNewPlaces,
  trimmed,
  type WholeSides,
  withEdit,
  withSharedEnds,
} from './moved/moved-blocks.ts';
export {
  createFaultFinder,
  type FindTextFault,
  mergeFault,
  type TextFault,
  tellFault,
} from './syntax/faults/merge-defects.ts';
export { formatOf, languageOf } from './syntax/language.ts';
export { childrenOf, nodesIn, parseSyntax, type SyntaxNode } from './syntax/parse.ts';
export { unifiedPatch } from './unified-patch.ts';
export { isSameFile, mergeValue, type Tree, type TreeFile, type Versions } from './versions.ts';
