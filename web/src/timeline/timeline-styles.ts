import { css } from 'lit'

export const timelineStyles = css`
  :host {
    position: relative;
    min-height: 0;
  }
  .scroller {
    position: relative;
    height: 100%;
    overflow-x: hidden;
    overscroll-behavior: contain;
    /* The list anchors the scroll position itself, the same in every browser. */
    overflow-anchor: none;
    scrollbar-gutter: stable both-edges;
  }
  .rows {
    max-width: var(--column);
    margin: 0 auto;
    padding: 0 var(--space-4) var(--space-5);
  }
  .top {
    justify-content: center;
    min-height: 4rem;
    color: var(--ink-faint);
    font-size: var(--text-sm);
  }
  .top-day {
    z-index: 2;
    padding: 0.2rem 0.75rem;
    color: var(--ink-soft);
    font-size: var(--text-xs);
    font-weight: 550;
    box-shadow: var(--shadow-low);
    pointer-events: none;
  }

  .row {
    position: relative;
    /* A change in one row moves the others but does not lay them out again. */
    contain: layout style;
    padding: 0.125rem 0;
  }
  .row.found > * {
    border-radius: var(--radius-md);
    animation: found 2.4s ease-out;
  }
  @keyframes found {
    from {
      box-shadow: 0 0 0 6px color-mix(in oklch, var(--mark) 55%, transparent);
      background: color-mix(in oklch, var(--mark) 55%, transparent);
    }
  }

  /* A heading or note between two lines. */
  .day,
  .boundary {
    gap: var(--space-3);
  }
  :is(.day, .boundary)::before,
  :is(.day, .boundary)::after {
    content: '';
    flex: 1;
    border-top: 1px solid var(--line);
  }
  .day {
    padding: var(--space-5) 0 var(--space-2);
    font-weight: 600;
  }
  .bad {
    color: var(--danger);
  }
  .fold {
    min-width: 0;
    min-height: 1.75rem;
    margin-inline-start: -0.375rem;
    padding: 0 0.375rem;
    border-radius: var(--radius-sm);
    color: var(--ink-faint);
    font: 400 var(--text-sm) / 1.3 var(--font);
  }
  .fold:hover {
    color: var(--ink-soft);
  }
  .chevron {
    --icon-size: 0.875rem;
  }
  .fold[aria-expanded='true'] .chevron {
    transform: rotate(90deg);
  }

  .span {
    gap: var(--space-1);
    padding-top: var(--space-4);
    font: inherit;
  }
  .span time {
    flex: none;
    font-variant-numeric: tabular-nums;
  }
  .badge {
    display: inline-flex;
    flex: none;
    align-items: center;
    gap: 0.3rem;
  }
  .span:is(.voice, .sms, .inner) .badge {
    padding: 0.1rem 0.5rem;
    border-radius: 999px;
    background: var(--accent-soft);
    color: var(--on-accent-soft);
    font-weight: 550;
  }
  .live {
    color: var(--success);
    font-weight: 600;
  }
  .excerpt {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    color: var(--ink-soft);
  }
  .excerpt + .faint {
    flex: none;
  }

  .erased {
    display: inline-flex;
    align-items: center;
    gap: 0.4rem;
    color: var(--ink-faint);
    font-style: italic;
  }

  .summary {
    overflow-wrap: anywhere;
  }
  .activity,
  .step-row {
    font-size: var(--text-sm);
  }
  .branch .fold {
    max-width: 100%;
  }
  .branch .name {
    flex: none;
  }
  .effects {
    padding-inline-start: 1.375rem;
    color: var(--ink-soft);
  }
  .row.replaced,
  .step-body {
    margin-inline-start: 0.4375rem;
    padding-inline-start: var(--space-4);
    border-inline-start: 1px solid var(--line);
  }
  .step-row {
    padding: 0;
  }
  .step-title {
    color: var(--ink-soft);
    overflow-wrap: anywhere;
  }
  .outcome.failed,
  .outcome.refused {
    color: var(--danger);
  }
  .detail {
    margin: var(--space-1) 0 var(--space-3);
    padding: var(--space-3);
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--surface);
  }
  .event-meta {
    gap: 0 var(--space-2);
  }
  .detail dl ~ .event-meta,
  .detail .erased ~ .event-meta {
    margin-top: var(--space-3);
    padding-top: var(--space-3);
    border-top: 1px solid var(--line);
  }
  .event-meta code {
    color: var(--ink-soft);
    font-family: var(--font-mono);
  }
  .detail dl {
    margin: var(--space-2) 0 0;
  }
  .field-row {
    display: grid;
    grid-template-columns: minmax(6rem, 9rem) minmax(0, 1fr);
    gap: var(--space-2);
    padding: 0.15rem 0;
  }
  .detail dt {
    color: var(--ink-faint);
  }
  .detail pre {
    max-height: 20rem;
    font-size: var(--text-xs);
  }

  .notice {
    width: fit-content;
    max-width: 100%;
    min-height: 1.75rem;
    border-radius: var(--radius-sm);
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  .effects a,
  .notice a.title {
    color: inherit;
    text-decoration-color: var(--line-strong);
    text-underline-offset: 0.2em;
  }
  .notice:not(.reminder) .line {
    display: contents;
  }
  .notice.reminder .line {
    gap: var(--space-1) var(--space-2);
    min-width: 0;
  }
  .notice.reminder {
    align-items: baseline;
    padding-block: var(--space-2);
    color: var(--ink);
    font-size: var(--text-md);
    font-weight: 550;
  }
  .notice.reminder dg-icon {
    color: var(--accent);
  }
  .notice.reminder > dg-icon {
    align-self: start;
    margin-top: calc((1lh - 1.125em) / 2);
  }
  /* The buttons of an open reminder have a line of their own. */
  .notice.reminder .line:has(.settle)::after {
    order: 1;
    width: 100%;
    content: '';
  }
  .notice.reminder .line:has(.settle) > :not(.title) {
    order: 2;
  }
  .notice.reminder .title {
    unicode-bidi: plaintext;
  }
  .notice.reminder .state {
    font-weight: 400;
  }
  .notice .undo {
    min-height: 1.75rem;
    margin-inline-start: var(--space-2);
  }
  .notice time {
    flex: none;
    color: var(--ink-faint);
    font-size: var(--text-xs);
    font-weight: 400;
    font-variant-numeric: tabular-nums;
  }
  .failure {
    margin: var(--space-2) 0;
  }
  .failure .button {
    margin-top: var(--space-2);
  }
  .boundary {
    padding: var(--space-4) 0;
  }
  .boundary::before,
  .boundary::after {
    border-top-style: dashed;
  }

  .thinking {
    padding: 0.25rem 0;
  }
  .pulse {
    color: var(--accent);
  }
  @media (prefers-reduced-motion: reduce) {
    .row.found > * {
      animation: none;
      box-shadow: 0 0 0 3px var(--mark);
    }
  }
  @media (max-width: 30rem) {
    .field-row {
      grid-template-columns: 1fr;
      gap: 0;
    }
    .guest .words {
      max-width: 92%;
    }
  }
`
