// The merge as a library: three texts in, one text or conflicts out. Nothing here reads a disk or keeps a state.

// Types that the signatures above name.
export type { Heads } from './heads/dispute-heads.ts';
export type { Head, HeadReader, SectionReader } from './heads/head-table.ts';
export {
  changedLines,
  changesLineEnds,
  type LineRange,
  type LineWeights,
  likeness,
  lineWeights,
} from './lines/compare-files.ts';
export { diffLines } from './lines/diff.ts';
export type { Interned } from './lines/interned-lines.ts';
export { at, internLines } from './lines/interned-lines.ts';
export type { Hunk, Labels, Terminator } from './lines/lines.ts';
export { contentOf, dominantTerminator, endLine, mapVersions, splitLines } from './lines/lines.ts';
export { hasMarkers, markerOf, type Rendered, renderConflicts } from './markers.ts';
export type { ContainedChanges } from './merge-files.ts';
export { containedChanges, type FileMerge, mergeFiles } from './merge-files.ts';
export { type Reopening, reopeningOf } from './merge-lines.ts';
export type { MergedText, MergeTextOptions, TextMerge } from './merge-text.ts';
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
export type { RepeatedName } from './syntax/faults/merge-defects.ts';
export {
  createFaultFinder,
  type FindTextFault,
  mergeFault,
  type TextFault,
  tellFault,
} from './syntax/faults/merge-defects.ts';
export type { Format, Language } from './syntax/language.ts';
export { formatOf, languageOf } from './syntax/language.ts';
export type { Redeclaration, Syntax, Token } from './syntax/parse.ts';
export { childrenOf, nodesIn, parseSyntax, type SyntaxNode } from './syntax/parse.ts';
export type { FilePatch, PatchSubject } from './unified-patch.ts';
export { unifiedPatch } from './unified-patch.ts';
export { isSameFile, mergeValue, type Tree, type TreeFile, type Versions } from './versions.ts';
