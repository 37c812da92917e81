// The contract and the dashboard as part of the binary. `#embed` takes a second where a Swift array literal of the same
// bytes, which is what SwiftPM's `.embedInCode` writes, takes the compiler a minute and a half.
#include "CGatewayFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const unsigned char index_html[] = {
#embed "../Gateway/Resources/index.html"
};

static const unsigned char dashboard_js[] = {
#embed "../Gateway/Resources/dashboard.js"
};

static const unsigned char dashboard_css[] = {
#embed "../Gateway/Resources/dashboard.css"
};

static const struct cgf_file files[] = {
    {"openapi.yaml", openapi_yaml, sizeof openapi_yaml},
    {"index.html", index_html, sizeof index_html},
    {"dashboard.js", dashboard_js, sizeof dashboard_js},
    {"dashboard.css", dashboard_css, sizeof dashboard_css},
};

const struct cgf_file *cgf_file_at(size_t index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : NULL;
}
