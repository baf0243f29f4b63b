// What the page uses of npm packages. It is bundled into one file; the modules of the page import it by this name.
import htm from 'htm';
import { Lexer, type Tokens } from 'marked';
import { type ComponentChildren, h, type RefObject, render, type VNode } from 'preact';

export {
  computed,
  type Signal,
  signal,
  useComputed,
  useSignal,
  useSignalEffect,
} from '@preact/signals';
export { Component } from 'preact';
export { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
/** A piece of Markdown; the type says which fields there are beside it. */
export type Token = Tokens.Generic;
export type { ComponentChildren, RefObject, VNode };
export { h, render };

/** Makes nodes of a template. Values are text or nodes, never markup. */
export const html = (htm as unknown as Htm).bind(create);

/**
 * Makes a node. htm would keep those without values, and a node that is kept holds the page in which it was drawn last,
 * which holds the one before; 3 says that none is kept.
 */
function create(this: unknown[], ...made: Parameters<typeof h>): VNode {
  this[0] = 3;
  return h(...made);
}

/** The types of the package describe its module for `require`. */
type Htm = {
  bind(make: typeof create): (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
};

/** Takes Markdown apart. */
export function markdownTokens(text: string): readonly Token[] {
  return new Lexer({ gfm: true, breaks: true }).lex(text) as readonly Token[];
}
