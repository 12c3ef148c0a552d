import { expect, test } from 'vitest';
import { questionWords } from './question-words.ts';

test.each([
  ['Which?', 'Which?'],
  [{ question: 'Which?', more: 1 }, 'Which?'],
  [{ message: 'Which?' }, 'Which?'],
  [{ odd: [1] }, '{"odd":[1]}'],
  [null, 'null'],
])('%j is asked as %s', (value, prompt) => {
  expect(questionWords(value)).toMatchObject({ prompt, fields: [{ name: 'answer', type: 'text', required: true }] });
});

test('what can be chosen is a choice that takes other words, too', () => {
  const options = ['red', { label: 'Blue', description: 'cold' }, { value: 'green' }, 7];
  expect(questionWords({ question: 'Which?', options }).fields).toMatchObject([
    {
      type: 'choice',
      custom: true,
      options: [{ label: 'red' }, { label: 'Blue', description: 'cold' }, { label: 'green' }],
    },
  ]);
});
