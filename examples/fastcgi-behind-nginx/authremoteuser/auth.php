<?php
// Takes DokuWiki's users from REMOTE_USER, at each request: it keeps no session of its own.

use dokuwiki\Extension\AuthPlugin;

class auth_plugin_authremoteuser extends AuthPlugin
{
    private string $user;

    public function __construct()
    {
        parent::__construct();
        $this->user = $_SERVER['REMOTE_USER'] ?? '';
        $this->cando['external'] = true;
        $this->cando['logout'] = false;
    }

    public function trustExternal($user, $pass, $sticky = false)
    {
        global $USERINFO;
        if ($this->user === '') return false;
        $USERINFO = $this->getUserData($this->user);
        $_SERVER['REMOTE_USER'] = $this->user;
        return true;
    }

    // Nothing is known of anybody but the present user.
    public function getUserData($user, $requireGroups = true)
    {
        if ($user !== $this->user) return false;
        return [
            'name' => ($_SERVER['REMOTE_NAME'] ?? '') ?: $user,
            'mail' => $_SERVER['REMOTE_EMAIL'] ?? '',
            'grps' => ['user'],
        ];
    }
}
