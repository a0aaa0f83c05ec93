/* align_page.h - the fixed parts of the page of align_html.c. */
#ifndef BARCODE_MATCH_ALIGN_PAGE_H
#define BARCODE_MATCH_ALIGN_PAGE_H

extern const char align_page_head[];   /* up to the title's text */
extern const char align_page_style[];  /* from the title's end to the body */
extern const char align_page_script[]; /* to the end; reads the variable `parts` */

#endif
