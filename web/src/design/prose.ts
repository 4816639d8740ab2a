import { css } from 'lit'

/** Rendered markdown. */
export const prose = css`
  .prose {
    overflow-wrap: anywhere;
  }
  .prose > :first-child {
    margin-top: 0;
  }
  .prose > :last-child {
    margin-bottom: 0;
  }
  .prose :is(p, ul, ol, pre, blockquote, table) {
    margin: 0 0 0.75em;
  }
  .prose :is(h1, h2, h3, h4, h5, h6) {
    margin: 1.25em 0 0.5em;
    font-size: 1rem;
    font-weight: 650;
    line-height: 1.35;
  }
  .prose :is(h1, h2) {
    font-size: var(--text-lg);
  }
  .prose :is(ul, ol) {
    padding-inline-start: 1.4em;
  }
  .prose li + li {
    margin-top: 0.2em;
  }
  .prose li::marker {
    color: var(--ink-faint);
  }
  .prose code {
    padding: 0.12em 0.35em;
    border-radius: var(--radius-sm);
    background: var(--sunken);
    font: 0.875em var(--font-mono);
  }
  .prose pre {
    padding: var(--space-3) var(--space-4);
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--sunken);
    overflow-x: auto;
    line-height: 1.5;
  }
  .prose pre code {
    padding: 0;
    background: none;
    overflow-wrap: normal;
  }
  .prose blockquote {
    padding-inline-start: var(--space-4);
    border-inline-start: 3px solid var(--line);
    color: var(--ink-soft);
  }
  .prose hr {
    height: 1px;
    margin: var(--space-4) 0;
    border: 0;
    background: var(--line);
  }
  .prose table {
    display: block;
    max-width: 100%;
    overflow-x: auto;
    border-collapse: collapse;
    font-size: 0.9375em;
  }
  .prose :is(th, td) {
    padding: var(--space-1) var(--space-3);
    border: 1px solid var(--line);
    text-align: start;
  }
  .prose th {
    background: var(--sunken);
    font-weight: 600;
  }
  /* On a phone most of a line would be out of sight. */
  @media (max-width: 30rem) {
    .prose pre {
      white-space: pre-wrap;
    }
  }
`
