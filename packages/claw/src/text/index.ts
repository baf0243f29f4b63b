// Text for people: broken by display width, and written so that nobody can misread it.
export { visible } from './visible-text.ts';
export { widthOf } from './width.ts';
export { wrap } from './wrap.ts';
