// The contract, the dashboard and the API page as part of the binary. `#embed` takes a second where a Swift array
// literal of the same bytes, which is what SwiftPM's `.embedInCode` writes, takes the compiler a minute and a half.
#include "CGatewayFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_yaml[] = {
#embed "../../../openapi.yaml"
};
static const unsigned char api_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/api.js"
};
static const unsigned char codes_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/codes.js"
};
static const unsigned char feed_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/feed.js"
};
static const unsigned char layout_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/layout.js"
};
static const unsigned char metrics_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/metrics.js"
};
static const unsigned char presets_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/presets.js"
};
static const unsigned char rights_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/rights.js"
};
static const unsigned char stream_js[] = {
#embed "../Gateway/Resources/Dashboard/Stream/stream.js"
};
static const unsigned char catalog_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/catalog.js"
};
static const unsigned char chart_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/chart.js"
};
static const unsigned char chat_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/chat.js"
};
static const unsigned char events_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/events.js"
};
static const unsigned char key_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/key.js"
};
static const unsigned char lists_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/lists.js"
};
static const unsigned char members_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/members.js"
};
static const unsigned char options_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/options.js"
};
static const unsigned char overview_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/overview.js"
};
static const unsigned char panel_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/panel.js"
};
static const unsigned char picture_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/picture.js"
};
static const unsigned char recovery_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/recovery.js"
};
static const unsigned char sessions_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/sessions.js"
};
static const unsigned char snippets_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/snippets.js"
};
static const unsigned char sparkline_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/sparkline.js"
};
static const unsigned char status_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/status.js"
};
static const unsigned char subscribe_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/subscribe.js"
};
static const unsigned char subscriptions_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/subscriptions.js"
};
static const unsigned char table_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/table.js"
};
static const unsigned char tabs_js[] = {
#embed "../Gateway/Resources/Dashboard/Views/tabs.js"
};
static const unsigned char app_js[] = {
#embed "../Gateway/Resources/Dashboard/app.js"
};
static const unsigned char dashboard_css[] = {
#embed "../Gateway/Resources/Dashboard/dashboard.css"
};
static const unsigned char dom_js[] = {
#embed "../Gateway/Resources/Dashboard/dom.js"
};
static const unsigned char index_html[] = {
#embed "../Gateway/Resources/Dashboard/index.html"
};
static const unsigned char loading_js[] = {
#embed "../Gateway/Resources/Dashboard/loading.js"
};
static const unsigned char docs_css[] = {
#embed "../Gateway/Resources/Docs/docs.css"
};
static const unsigned char docs_html[] = {
#embed "../Gateway/Resources/Docs/docs.html"
};
static const unsigned char docs_js[] = {
#embed "../Gateway/Resources/Docs/docs.js"
};
static const unsigned char base_css[] = {
#embed "../Gateway/Resources/base.css"
};
static const unsigned char codes_json[] = {
#embed "../Gateway/Resources/codes.json"
};
static const unsigned char gateway_elements_d_ts[] = {
#embed "../Gateway/Resources/Module/gateway-elements.d.ts"
};
static const unsigned char gateway_elements_js[] = {
#embed "../Gateway/Resources/Module/gateway-elements.js"
};
static const unsigned char gateway_hub_js[] = {
#embed "../Gateway/Resources/Module/gateway-hub.js"
};
static const unsigned char gateway_react_d_ts[] = {
#embed "../Gateway/Resources/Module/gateway-react.d.ts"
};
static const unsigned char gateway_react_js[] = {
#embed "../Gateway/Resources/Module/gateway-react.js"
};
static const unsigned char gateway_d_ts[] = {
#embed "../Gateway/Resources/Module/gateway.d.ts"
};
static const unsigned char gateway_js[] = {
#embed "../Gateway/Resources/Module/gateway.js"
};
static const unsigned char icon_svg[] = {
#embed "../Gateway/Resources/icon.svg"
};
static const unsigned char theme_js[] = {
#embed "../Gateway/Resources/theme.js"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const struct cgf_file files[] = {
    FILE("openapi.yaml", openapi_yaml),
    FILE("api.js", api_js),
    FILE("codes.js", codes_js),
    FILE("feed.js", feed_js),
    FILE("layout.js", layout_js),
    FILE("metrics.js", metrics_js),
    FILE("presets.js", presets_js),
    FILE("rights.js", rights_js),
    FILE("stream.js", stream_js),
    FILE("catalog.js", catalog_js),
    FILE("chart.js", chart_js),
    FILE("chat.js", chat_js),
    FILE("events.js", events_js),
    FILE("key.js", key_js),
    FILE("lists.js", lists_js),
    FILE("members.js", members_js),
    FILE("options.js", options_js),
    FILE("overview.js", overview_js),
    FILE("panel.js", panel_js),
    FILE("picture.js", picture_js),
    FILE("recovery.js", recovery_js),
    FILE("sessions.js", sessions_js),
    FILE("snippets.js", snippets_js),
    FILE("sparkline.js", sparkline_js),
    FILE("status.js", status_js),
    FILE("subscribe.js", subscribe_js),
    FILE("subscriptions.js", subscriptions_js),
    FILE("table.js", table_js),
    FILE("tabs.js", tabs_js),
    FILE("app.js", app_js),
    FILE("dashboard.css", dashboard_css),
    FILE("dom.js", dom_js),
    FILE("index.html", index_html),
    FILE("loading.js", loading_js),
    FILE("docs.css", docs_css),
    FILE("docs.html", docs_html),
    FILE("docs.js", docs_js),
    FILE("base.css", base_css),
    FILE("codes.json", codes_json),
    FILE("gateway-elements.d.ts", gateway_elements_d_ts),
    FILE("gateway-elements.js", gateway_elements_js),
    FILE("gateway-hub.js", gateway_hub_js),
    FILE("gateway-react.d.ts", gateway_react_d_ts),
    FILE("gateway-react.js", gateway_react_js),
    FILE("gateway.d.ts", gateway_d_ts),
    FILE("gateway.js", gateway_js),
    FILE("icon.svg", icon_svg),
    FILE("theme.js", theme_js),
};

const struct cgf_file *cgf_file_at(size_t index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : NULL;
}
