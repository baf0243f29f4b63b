import { expect, test } from 'vitest';
import { HIDDEN_HTML, SEEN_HTML } from '../../testing/html/hidden-html.ts';
import { withoutHidden } from './shown-html.ts';

test.each(Object.entries(HIDDEN_HTML))('hidden text is left out: %s', (_, hidden) => {
  const { html } = withoutHidden(`<p>before</p>${hidden}<p>after</p>`);
  expect(html).not.toContain('SECRET');
  expect(html).toContain('before');
  expect(html).toContain('after');
});

test.each(Object.entries(SEEN_HTML))('text that is seen stays: %s', (_, seen) => {
  expect(withoutHidden(`<p>before</p>${seen}`).html).toContain('SEEN');
});

test('an empty comment ends at once, and one without an end hides the rest', () => {
  expect(withoutHidden('<!--><p>a</p><!---><p>b</p><!----><p>c</p>').html).toBe(
    '<p>a</p><p>b</p><p>c</p>',
  );
  expect(withoutHidden('<p>a</p><!-- <p>b</p>').html).toBe('<p>a</p>');
});
